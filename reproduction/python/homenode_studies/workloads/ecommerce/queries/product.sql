SELECT item.*, a_fname, a_lname FROM item, author WHERE i_id = :item AND i_a_id = a_id
