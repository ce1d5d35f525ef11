SELECT i_id, i_title, i_publisher, i_cost, ol_qty, ol_discount, ol_comments
FROM order_line, item WHERE ol_o_id = :number AND ol_i_id = i_id ORDER BY ol_id
