-- The eight tables of TPC-W (clause 1.4), filled from files that database.py writes.
-- Keys and indexes are made after the rows, which is faster.

CREATE TABLE country (
    co_id integer, co_name varchar(50), co_exchange numeric(12,6), co_currency varchar(18)
);
CREATE TABLE author (
    a_id integer, a_fname varchar(20), a_lname varchar(20), a_mname varchar(20), a_dob date,
    a_bio text
);
CREATE TABLE address (
    addr_id integer, addr_street1 varchar(40), addr_street2 varchar(40), addr_city varchar(30),
    addr_state varchar(20), addr_zip varchar(10), addr_co_id integer
);
CREATE TABLE customer (
    c_id integer, c_uname varchar(20), c_passwd varchar(20), c_fname varchar(17),
    c_lname varchar(17), c_addr_id integer, c_phone varchar(16), c_email varchar(50),
    c_since date, c_last_visit date, c_login timestamp, c_expiration timestamp,
    c_discount numeric(3,2), c_balance numeric(15,2), c_ytd_pmt numeric(15,2), c_birthdate date,
    c_data text
);
CREATE TABLE item (
    i_id integer, i_title varchar(60), i_a_id integer, i_pub_date date, i_publisher varchar(60),
    i_subject varchar(60), i_desc text, i_related1 integer, i_related2 integer,
    i_related3 integer, i_related4 integer, i_related5 integer, i_thumbnail varchar(40),
    i_image varchar(40), i_srp numeric(15,2), i_cost numeric(15,2), i_avail date,
    i_stock integer, i_isbn char(13), i_page integer, i_backing varchar(15),
    i_dimensions varchar(25)
);
CREATE TABLE orders (
    o_id integer, o_c_id integer, o_date timestamp, o_sub_total numeric(15,2),
    o_tax numeric(15,2), o_total numeric(15,2), o_ship_type varchar(10), o_ship_date timestamp,
    o_bill_addr_id integer, o_ship_addr_id integer, o_status varchar(15)
);
CREATE TABLE order_line (
    ol_id integer, ol_o_id integer, ol_i_id integer, ol_qty integer, ol_discount numeric(3,2),
    ol_comments varchar(110)
);
CREATE TABLE cc_xacts (
    cx_o_id integer, cx_type varchar(10), cx_num varchar(20), cx_name varchar(30),
    cx_expiry date, cx_auth_id char(15), cx_xact_amt numeric(15,2), cx_xact_date timestamp,
    cx_co_id integer
);

-- Names are made of seven syllables, one for each digit (clause 4.6.2.10), so that clients can
-- request a customer, an author or a title by number.
CREATE FUNCTION syllable(digit integer) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT (ARRAY['BA','OG','AL','RI','RE','SE','AT','UL','IN','NG'])[digit % 10 + 1]
$$;
CREATE FUNCTION syllables(number integer) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT syllable(number / 1000000) || syllable(number / 100000) || syllable(number / 10000)
        || syllable(number / 1000) || syllable(number / 100) || syllable(number / 10)
        || syllable(number)
$$;
-- A number without its last two digits is the prefix of up to a hundred names.
CREATE FUNCTION beginning(number integer) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT left(syllables(number), 10) || '%'
$$;
CREATE FUNCTION subject(number integer) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT (ARRAY['ARTS','BIOGRAPHIES','BUSINESS','CHILDREN','COMPUTERS','COOKING','HEALTH',
                  'HISTORY','HOME','HUMOR','LITERATURE','MYSTERY','NON-FICTION','PARENTING',
                  'POLITICS','REFERENCE','RELIGION','ROMANCE','SELF-HELP','SCIENCE-NATURE',
                  'SCIENCE-FICTION','SPORTS','YOUTH','TRAVEL'])[number]
$$;
