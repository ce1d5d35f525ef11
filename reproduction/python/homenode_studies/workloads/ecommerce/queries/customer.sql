SELECT c_id, c_fname, c_lname, c_discount FROM customer WHERE c_id = :customer
