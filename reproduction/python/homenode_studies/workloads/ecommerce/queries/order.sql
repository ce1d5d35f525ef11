INSERT INTO orders
SELECT nextval('order_number'), c_id, now(), :cents / 100.0, :cents / 100.0 * 0.0825,
       :cents / 100.0 * 1.0825 + 3, 'AIR', now() + interval '3 days', c_addr_id, c_addr_id,
       'PENDING'
FROM customer WHERE c_id = :customer RETURNING o_id AS number
