#!/bin/sh
# The first process of the guest. /etc/mix has the parameters: MIX, POSTGRES (the folder of its
# programs), BROWSERS, SEED, ITEMS, CUSTOMERS, CHILDREN (of Apache), WARM_UP (interactions of each
# browser), BEGINNING (seconds for utilities to start), ROUNDS (how often they process their
# files), LENGTH (seconds to record). A line on the second serial port ends the recording, too.
# Results for the host are printed as "result: NAME VALUE".
. /etc/mix
PATH=/bin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
ip link set lo up
ulimit -n 4096

fail() {
    echo "result: failure $1"
    cat /tmp/*.log 2>/dev/null | tail -n 20
    poweroff -f
}

as_postgres() { su postgres -s /bin/sh -c "$1"; }
# A number from the database.
ask() { as_postgres "$POSTGRES/psql -Atq -h /run/postgresql tpcw -c \"$1\""; }

mkdir -p /run/postgresql /run/apache2 /tmp/sessions
chmod 1777 /tmp /tmp/sessions
chown -R postgres /data /run/postgresql
chmod 700 /data
as_postgres "$POSTGRES/pg_ctl -s -D /data -w -l /tmp/postgres.log start" || fail "PostgreSQL does not start"
uname -r | sed 's/^/result: kernel /'

BROWSE="browsers -p 80 -n $BROWSERS -k $ITEMS -c $CUSTOMERS"

serve() {
    php-fpm -c /etc/php.ini -y /etc/php-fpm.conf || fail "PHP does not start"
    apache2 -f /etc/apache2.conf || fail "Apache does not start"
    sleep 1
    $BROWSE -s "$((SEED + 1000000))" -i "$WARM_UP" > /tmp/warm-up.log 2>&1 || fail "the shop does not answer"
}

# pgbench runs transactions from the queries of all pages, with the frequencies at which browsers
# request these pages.
query() {
    as_postgres "exec $POSTGRES/pgbench -n -h /run/postgresql -c 21 -j 1 --random-seed=$1 \
        $(cat /srv/pgbench/scripts) $2 tpcw"
}

# Timer interrupts of all processors, from a copy of /proc/interrupts.
count_ticks() {
    ticks=0
    for count in $(sed -n 's/^ *LOC: *\([0-9 ]*\).*/\1/p' "$1"); do
        ticks=$((ticks + count))
    done
    echo $ticks
}

# Pages that the web server has answered; for the database, finished transactions.
count_pages() {
    if [ "$MIX" = db ]; then
        ask "SELECT sum(xact_commit) FROM pg_stat_database"
    else
        grep -c "GET /shop" /tmp/access.log
    fi
}

# Files to copy and remove exist before the recording: the same few, under other names
# in each round.
prepare_utilities() {
    mkdir /tmp/source /tmp/copies /tmp/old
    /bin/busybox cp -r /srv/files /srv/copy
    /bin/busybox touch /srv/access.log
    i=0
    TREES= LOGS=
    while [ $i -lt "$ROUNDS" ]; do
        # A round of ls is the shortest: it does several where others do one.
        TREES="$TREES /srv/files /srv/files /srv/files /srv/files" LOGS="$LOGS /srv/access.log"
        /bin/busybox cp -rl /srv/files /tmp/source/$i
        /bin/busybox cp -rl /srv/copy /tmp/copies/$i
        /bin/busybox cp -rl /srv/files /tmp/old/$i
        i=$((i + 1))
    done
}

# Starts a utility. It is called by its path, because this shell has built-in utilities.
UTILITIES=
start() {
    "$@" > /dev/null &
    UTILITIES="$UTILITIES $!"
}

# They are stopped once they have begun their work, because starting a program takes longer than a
# round.
utilities() {
    start /usr/bin/ls -aR $TREES
    start /usr/bin/awk -f /srv/count.awk $LOGS
    start /usr/bin/cp -rT /tmp/source /tmp/copies
    start /usr/bin/gzip -c $LOGS
    start /usr/bin/rm -r /tmp/old
    sleep "$BEGINNING"
    kill -STOP $UTILITIES
}

case $MIX in
db)
    query "$((SEED + 1000000))" "-t $WARM_UP" > /tmp/warm-up.log 2>&1 || fail "the database does not answer"
    query "$SEED" "-T 1000000" > /tmp/queries.log 2>&1 &
    ;;
*)
    serve
    $BROWSE -s "$SEED" > /tmp/browsers.log 2>&1 &
    ;;
esac
LOAD=$!
case $MIX in ec | db) prepare_utilities ;; esac

# The program that drives the guest is stopped around the marks, so that exactly the counted work
# is recorded.
sleep 2
DRIVERS=$(pidof browsers pgbench)
kill -STOP $DRIVERS
sleep 1
case $MIX in ec | db) utilities ;; esac
before=$(count_pages)
# From here on this shell has priority over the servers, however busy they are: the utilities
# continue, and the recording ends, on time.
/bin/busybox renice -n -20 $$
echo "result: recording begins"
/homenode/mark start || fail "the recording does not begin"
cat /proc/interrupts > /tmp/interrupts-before
sh -c "read -r -t $LENGTH line < /dev/ttyS1; kill -STOP $DRIVERS
    cat /proc/interrupts > /tmp/interrupts-after; exec /homenode/mark stop" &
END=$!
# It runs before the others continue. The utilities continue with them: behind busy servers one of
# them might not get a processor before a short recording ends.
sleep 0.01
kill -CONT $DRIVERS $UTILITIES
wait $END
echo "result: recording ends"
echo "result: ticks $(($(count_ticks /tmp/interrupts-after) - $(count_ticks /tmp/interrupts-before)))"
echo "result: pages_recorded $(($(count_pages) - before))"
kill -CONT $DRIVERS

alive=0
kill -0 $LOAD && alive=1
echo "result: alive $alive"
if [ "$MIX" = db ]; then
    kill $LOAD $DRIVERS
    grep -c -E "error:|ERROR|aborted" /tmp/queries.log | sed 's/^/result: query_errors /'
    grep -E "error:|ERROR|aborted" /tmp/queries.log | head -n 3
else
    kill $LOAD
    wait $LOAD
    sed -n 's/^browsers: /result: /p' /tmp/browsers.log
    grep "^browsers: /" /tmp/browsers.log | head -n 5
    sed -n 's/^browsers: orders /result: warm_up_orders /p' /tmp/warm-up.log
fi
sleep 1
new="FROM orders WHERE o_id >= (SELECT number FROM first_order)"
whole="AND EXISTS (SELECT 1 FROM order_line WHERE ol_o_id = o_id)
    AND EXISTS (SELECT 1 FROM cc_xacts WHERE cx_o_id = o_id)"
echo "result: orders_in_database $(ask "SELECT count(*) $new")"
echo "result: orders_whole $(ask "SELECT count(*) $new $whole")"
echo "result: end"
poweroff -f
