SELECT i_id, i_title, i_cost, i_srp, i_backing, i_thumbnail, i_stock FROM item
WHERE i_id = :item
