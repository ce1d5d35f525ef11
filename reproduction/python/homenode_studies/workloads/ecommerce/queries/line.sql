INSERT INTO order_line VALUES (:line, :number, :item, :quantity, 0.1, 'none')
