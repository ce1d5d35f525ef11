INSERT INTO cc_xacts
SELECT o_id, 'VISA', '4111111111111111', 'Card Holder', DATE '2030-01-01', '000000000000001',
       o_total, now(), addr_co_id
FROM orders, address WHERE o_id = :number AND addr_id = o_bill_addr_id
