SELECT i_id, i_title, a_fname, a_lname, i_thumbnail, sold
FROM (
    SELECT ol_i_id, sum(ol_qty) AS sold FROM order_line
    WHERE ol_o_id > (SELECT max(o_id) - 3333 FROM orders)
      AND ol_i_id IN (SELECT i_id FROM item WHERE i_subject = subject(:subject))
    GROUP BY ol_i_id ORDER BY sold DESC LIMIT 50
) AS best, item, author
WHERE i_id = ol_i_id AND i_a_id = a_id ORDER BY sold DESC
