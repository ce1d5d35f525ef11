SELECT i_id, i_title, a_fname, a_lname, i_thumbnail, sum(ol_qty) AS sold
FROM item, author, order_line
WHERE i_id = ol_i_id AND i_a_id = a_id AND i_subject = subject(:subject)
  AND ol_o_id > (SELECT max(o_id) - 3333 FROM orders)
GROUP BY i_id, i_title, a_fname, a_lname, i_thumbnail ORDER BY sold DESC LIMIT 50
