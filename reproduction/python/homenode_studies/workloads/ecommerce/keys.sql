-- Keys, indexes and counters, after the rows.
ALTER TABLE country ADD PRIMARY KEY (co_id);
ALTER TABLE author ADD PRIMARY KEY (a_id);
ALTER TABLE address ADD PRIMARY KEY (addr_id);
ALTER TABLE customer ADD PRIMARY KEY (c_id);
ALTER TABLE item ADD PRIMARY KEY (i_id);
ALTER TABLE orders ADD PRIMARY KEY (o_id);
ALTER TABLE order_line ADD PRIMARY KEY (ol_o_id, ol_id);
ALTER TABLE cc_xacts ADD PRIMARY KEY (cx_o_id);
ALTER TABLE address ADD FOREIGN KEY (addr_co_id) REFERENCES country;
ALTER TABLE customer ADD FOREIGN KEY (c_addr_id) REFERENCES address;
ALTER TABLE item ADD FOREIGN KEY (i_a_id) REFERENCES author;
ALTER TABLE orders ADD FOREIGN KEY (o_c_id) REFERENCES customer;
ALTER TABLE orders ADD FOREIGN KEY (o_bill_addr_id) REFERENCES address;
ALTER TABLE orders ADD FOREIGN KEY (o_ship_addr_id) REFERENCES address;
ALTER TABLE order_line ADD FOREIGN KEY (ol_o_id) REFERENCES orders;
ALTER TABLE order_line ADD FOREIGN KEY (ol_i_id) REFERENCES item;
ALTER TABLE cc_xacts ADD FOREIGN KEY (cx_o_id) REFERENCES orders;
CREATE UNIQUE INDEX customer_uname ON customer (c_uname);
CREATE INDEX author_lname ON author (a_lname);
CREATE INDEX item_title ON item (i_title);
CREATE INDEX item_subject ON item (i_subject, i_id);
CREATE INDEX item_newest ON item (i_subject, i_pub_date DESC, i_title);
CREATE INDEX item_alphabet ON item (i_subject, i_title);
CREATE INDEX item_author ON item (i_a_id);
CREATE INDEX orders_customer ON orders (o_c_id);
CREATE INDEX order_line_item ON order_line (ol_i_id);
CREATE INDEX country_name ON country (co_name);

CREATE SEQUENCE customer_number;
CREATE SEQUENCE address_number;
CREATE SEQUENCE order_number;
SELECT setval('customer_number', (SELECT max(c_id) FROM customer)),
       setval('address_number', (SELECT max(addr_id) FROM address)),
       setval('order_number', (SELECT max(o_id) FROM orders));
CREATE TABLE first_order AS SELECT max(o_id) + 1 AS number FROM orders;
VACUUM ANALYZE;
