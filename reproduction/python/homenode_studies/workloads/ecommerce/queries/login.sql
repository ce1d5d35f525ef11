UPDATE customer SET c_login = now(), c_expiration = now() + interval '2 hours'
WHERE c_uname = syllables(:customer)
