WITH also AS (
    SELECT o.ol_i_id AS i_id, row_number() OVER (ORDER BY sum(o.ol_qty) DESC, o.ol_i_id) AS rank
    FROM order_line o
    WHERE o.ol_i_id <> :item AND o.ol_o_id IN (
        SELECT ol_o_id FROM order_line
        WHERE ol_i_id = :item AND ol_o_id > (SELECT max(o_id) - 10000 FROM orders))
    GROUP BY o.ol_i_id LIMIT 5
)
UPDATE item SET i_cost = i_srp * 0.9, i_pub_date = current_date,
    i_related1 = coalesce((SELECT i_id FROM also WHERE rank = 1), i_related1),
    i_related2 = coalesce((SELECT i_id FROM also WHERE rank = 2), i_related2),
    i_related3 = coalesce((SELECT i_id FROM also WHERE rank = 3), i_related3),
    i_related4 = coalesce((SELECT i_id FROM also WHERE rank = 4), i_related4),
    i_related5 = coalesce((SELECT i_id FROM also WHERE rank = 5), i_related5)
WHERE i_id = :item
