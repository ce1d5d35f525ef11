<?php
/* The shop of TPC-W: shop.php?page=NAME, one page for each of the 14 web interactions (clause 2).
 * Names of people and titles are made of numbers, so all arguments are numbers too.
 */
require 'database.php';
require 'browsing.php';
require 'ordering.php';

const PAGES = [
    'home' => 'Home', 'new-products' => 'New products', 'best-sellers' => 'Best sellers',
    'product-detail' => 'Product detail', 'search-request' => 'Search request',
    'search-results' => 'Search results', 'shopping-cart' => 'Shopping cart',
    'customer-registration' => 'Customer registration', 'buy-request' => 'Buy request',
    'buy-confirm' => 'Buy confirm', 'order-inquiry' => 'Order inquiry',
    'order-display' => 'Order display', 'admin-request' => 'Admin request',
    'admin-confirm' => 'Admin confirm',
];

function number(string $name, int $else = 1): int
{
    return (int)($_GET[$name] ?? $else);
}

function button(string $name): string
{
    return "<a href=\"shop.php?page=$name\"><img src=\"button_$name.gif\" alt=\"$name\"></a>\n";
}

function promotions(): void
{
    echo "<p>Recommended:\n";
    foreach (query('promotions', ['item' => number('item')]) as $row) {
        echo "<a href=\"shop.php?page=product-detail&amp;item=$row[i_id]\">",
            "<img src=\"$row[i_thumbnail]\" alt=\"\"></a>\n";
    }
}

/* At most 50 books, one per line. */
function books(array $rows): void
{
    echo "<table>\n";
    foreach ($rows as $row) {
        echo "<tr><td><a href=\"shop.php?page=product-detail&amp;item=$row[i_id]\">",
            htmlspecialchars($row['i_title']), '</a><td>', htmlspecialchars($row['a_fname']), ' ',
            htmlspecialchars($row['a_lname']), "\n";
    }
    echo "</table>\n<p>", count($rows), " books\n";
}

$page = $_GET['page'] ?? 'home';
if (!isset(PAGES[$page])) {
    http_response_code(404);
    exit("no such page\n");
}
session_start();
ob_start();
$show = str_replace('-', '_', $page) . '_page';
$show();
$body = ob_get_clean();
$buttons = implode('', array_map('button', ['home', 'search-request', 'shopping-cart']));
echo '<!DOCTYPE html><html><head><title>', PAGES[$page], "</title></head>\n<body>\n",
    "<h1><img src=\"logo.gif\" alt=\"TPC-W\"> ", PAGES[$page], "</h1>\n$body<p>$buttons</body></html>\n";
