SELECT customer.*, address.*, co_name FROM customer, address, country
WHERE c_uname = syllables(:customer) AND addr_id = c_addr_id AND co_id = addr_co_id
