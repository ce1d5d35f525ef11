SELECT i_id, i_title, a_fname, a_lname, i_thumbnail FROM item, author
WHERE i_title LIKE beginning(:item) AND i_a_id = a_id ORDER BY i_title LIMIT 50
