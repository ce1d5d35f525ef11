<?php
/* Pages for ordering. The content of a cart is in the session's file. */

function cart_shown(): int
{
    $cents = 0;
    foreach ($_SESSION['cart'] ?? [] as $item => $quantity) {
        foreach (query('price', ['item' => $item]) as $row) {
            $cents += (int)round($row['i_cost'] * 100) * $quantity;
            echo "<p><img src=\"$row[i_thumbnail]\" alt=\"\">", htmlspecialchars($row['i_title']),
                " $row[i_backing]: $quantity at $row[i_cost]\n";
        }
    }
    echo '<p>Total ', $cents / 100, "\n";
    return $cents;
}

/* The requested item is added, so a cart is never empty (clause 2.4.3). */
function shopping_cart_page(): void
{
    $cart = $_SESSION['cart'] ?? [];
    $item = number('item');
    if (count($cart) < 20) {
        $cart[$item] = number('quantity');
    }
    ksort($cart);
    $_SESSION['cart'] = $cart;
    promotions();
    cart_shown();
}

function customer_registration_page(): void
{
    promotions();
    echo "<form><input name=\"customer\"><input type=\"password\"><input type=\"submit\"></form>\n";
}

/* A returning customer logs in; a new customer registers. */
function buy_request_page(): void
{
    $customer = number('customer');
    if ($customer === 0) {
        $made = query('new-customer', ['item' => number('item'), 'country' => number('country')]);
        $customer = (int)$made[0]['c_id'];
    } else {
        query('login', ['customer' => $customer]);
    }
    $_SESSION['customer'] = $customer;
    foreach (query('residence', ['customer' => $customer]) as $row) {
        echo '<p>', htmlspecialchars("$row[c_fname] $row[c_lname], $row[addr_street1]"), ', ',
            htmlspecialchars("$row[addr_city], $row[co_name]"), "\n";
    }
    cart_shown();
}

function buy_confirm_page(): void
{
    $_SESSION['cart'] ??= [number('item') => 1];
    $cart = $_SESSION['cart'];
    $customer = $_SESSION['customer'] ?? number('customer');
    command('BEGIN');
    $cents = cart_shown();
    $order = (int)query('order', ['cents' => $cents, 'customer' => $customer])[0]['number'];
    $line = 0;
    foreach ($cart as $item => $quantity) {
        $line++;
        query('line', ['line' => $line, 'number' => $order, 'item' => $item,
            'quantity' => $quantity]);
        query('stock', ['item' => $item, 'quantity' => $quantity]);
    }
    query('charge', ['number' => $order]);
    command('COMMIT');
    unset($_SESSION['cart']);
    echo "<p>Order $order is on its way.\n";
}

function order_inquiry_page(): void
{
    echo "<form><input name=\"customer\"><input type=\"password\"><input type=\"submit\"></form>\n";
}

function order_display_page(): void
{
    foreach (query('last-order', ['customer' => number('customer')]) as $row) {
        echo "<p>Order $row[number] of $row[o_date]: $row[o_total], $row[o_status], paid by ",
            "$row[cx_type], sent to ", htmlspecialchars("$row[addr_street1], $row[co_name]"), "\n";
        foreach (query('lines', ['number' => $row['number']]) as $line) {
            echo '<p>', htmlspecialchars($line['i_title']), ": $line[ol_qty] at $line[i_cost]\n";
        }
    }
}
