<?php
/* Pages for browsing. */

function home_page(): void
{
    foreach (query('customer', ['customer' => number('customer')]) as $row) {
        echo '<p>Welcome back, ', htmlspecialchars("$row[c_fname] $row[c_lname]"), "\n";
    }
    promotions();
    for ($subject = 1; $subject <= 24; $subject++) {
        echo "<a href=\"shop.php?page=new-products&amp;subject=$subject\">new</a>\n",
            "<a href=\"shop.php?page=best-sellers&amp;subject=$subject\">best</a>\n";
    }
}

function new_products_page(): void
{
    promotions();
    books(query('new-products', ['subject' => number('subject')]));
}

function best_sellers_page(): void
{
    promotions();
    books(query('best-sellers', ['subject' => number('subject')]));
}

function product_detail_page(): void
{
    foreach (query('product', ['item' => number('item')]) as $row) {
        echo "<img src=\"$row[i_image]\" alt=\"\"><p>", htmlspecialchars($row['i_title']), ' by ',
            htmlspecialchars("$row[a_fname] $row[a_lname]"), "<p>", htmlspecialchars($row['i_desc']),
            "<p>Suggested $row[i_srp], ours $row[i_cost]; $row[i_backing], $row[i_page] pages,",
            " published by ", htmlspecialchars($row['i_publisher']), " $row[i_pub_date]\n";
    }
}

function search_request_page(): void
{
    promotions();
    echo "<form><select name=\"kind\"><option>author<option>title<option>subject</select>",
        "<input name=\"item\"><input type=\"submit\"></form>\n";
}

function search_results_page(): void
{
    $kinds = ['search-author', 'search-title', 'search-subject'];
    promotions();
    $wanted = ['item' => number('item'), 'subject' => number('subject')];
    books(query($kinds[number('kind', 0) % 3], $wanted));
}

function admin_request_page(): void
{
    product_detail_page();
    echo "<form><input name=\"cost\"><input name=\"image\"><input type=\"submit\"></form>\n";
}

function admin_confirm_page(): void
{
    query('administer', ['item' => number('item')]);
    product_detail_page();
}
