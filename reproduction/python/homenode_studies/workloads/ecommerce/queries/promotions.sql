SELECT j.i_id, j.i_thumbnail FROM item i, item j
WHERE i.i_id = :item
  AND j.i_id IN (i.i_related1, i.i_related2, i.i_related3, i.i_related4, i.i_related5)
