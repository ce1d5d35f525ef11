SELECT i_id, i_title, a_fname, a_lname, i_thumbnail FROM item, author
WHERE i_a_id = a_id AND i_subject = subject(:subject)
ORDER BY i_pub_date DESC, i_title LIMIT 50
