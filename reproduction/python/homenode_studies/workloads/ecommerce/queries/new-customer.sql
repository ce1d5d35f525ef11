WITH place AS (
    INSERT INTO address
    SELECT nextval('address_number'), 'Street ' || :item, '', 'City', 'State', '00000', :country
    RETURNING addr_id
), number AS (SELECT nextval('customer_number')::int AS c_id)
INSERT INTO customer
SELECT c_id, syllables(c_id), lower(syllables(c_id)), 'New', 'Customer', addr_id, '0',
       syllables(c_id) || '@example.com', now(), now(), now(), now() + interval '2 hours', 0.1, 0,
       0, DATE '1970-01-01', 'new'
FROM place, number RETURNING c_id
