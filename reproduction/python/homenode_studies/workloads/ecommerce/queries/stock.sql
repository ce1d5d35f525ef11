UPDATE item SET i_stock = i_stock - :quantity + CASE WHEN i_stock - :quantity < 10 THEN 21 ELSE 0 END
WHERE i_id = :item
