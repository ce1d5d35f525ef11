SELECT o_id AS number, orders.*, cx_type, addr_street1, addr_city, co_name
FROM customer, orders, cc_xacts, address, country
WHERE c_uname = syllables(:customer) AND o_c_id = c_id AND cx_o_id = o_id
  AND addr_id = o_bill_addr_id AND co_id = addr_co_id
ORDER BY o_date DESC, o_id DESC LIMIT 1
