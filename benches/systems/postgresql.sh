#!/bin/sh
# Makes an initramfs with PostgreSQL and its benchmark, to be recorded with
#
#     homenode record --via qemu-system --kernel vmlinuz --initramfs pg.gz --memory 1024 -o pg.hnt
#
# The database is made here, so that the recorded system only has to start it. What is recorded:
# CLIENTS clients, TRANSACTIONS transactions each, after as many that are not. On Debian this needs
# postgresql-15 (or another version, and VERSION), busybox-static and cpio, and root.
set -eu

target=${1:?usage: postgresql.sh TARGET.gz}
VERSION=${VERSION:-15}
CLIENTS=${CLIENTS:-4}
TRANSACTIONS=${TRANSACTIONS:-40}
bin=/usr/lib/postgresql/$VERSION/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc"
mkdir -p "$root/var/run/postgresql" "$root/usr/share/postgresql" "$root/usr/lib/postgresql"
chmod 1777 "$root/tmp"

copy() {
    mkdir -p "$root$(dirname "$1")"
    cp -L "$1" "$root$1"
}

cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh mount mkdir su sleep ip poweroff chown; do ln -sf busybox "$root/bin/$name"; done
for program in "$bin/postgres" "$bin/pg_ctl" "$bin/pgbench" "$bin/psql"; do
    copy "$program"
    for library in $(ldd "$program" | grep -o '/[^ ]*'); do copy "$library"; done
done
cp -r "/usr/lib/postgresql/$VERSION/lib" "$root/usr/lib/postgresql/$VERSION/"
rm -rf "$root/usr/lib/postgresql/$VERSION/lib/bitcode"
cp -r "/usr/share/postgresql/$VERSION" "$root/usr/share/postgresql/"
mkdir -p "$root/usr/share/zoneinfo" && cp -L /usr/share/zoneinfo/UTC "$root/usr/share/zoneinfo/" || true
echo 'root:x:0:0::/:/bin/sh' > "$root/etc/passwd"
echo 'postgres:x:100:100::/tmp:/bin/sh' >> "$root/etc/passwd"
printf 'root:x:0:\npostgres:x:100:\n' > "$root/etc/group"

data=$work/data
mkdir "$data" && chown postgres "$data"
as_postgres() { su postgres -s /bin/sh -c "$1"; }
as_postgres "cd / && $bin/initdb -D $data -A trust -N -E UTF8 --locale=C --wal-segsize=1 >/dev/null"
options="-c listen_addresses= -c unix_socket_directories=$data -c fsync=off -c timezone=UTC"
as_postgres "cd / && $bin/pg_ctl -D $data -w -l $data/log -o '$options' start >/dev/null"
as_postgres "cd / && $bin/pgbench -h $data -i -s 1 -q postgres >/dev/null 2>&1"
as_postgres "cd / && $bin/pg_ctl -D $data -w -m fast stop >/dev/null"
rm -f "$data/log"
sed -i "s/^timezone = .*/timezone = 'UTC'/; s/^log_timezone = .*/log_timezone = 'UTC'/" \
    "$data/postgresql.conf"
sed -i "s/^dynamic_shared_memory_type = .*/dynamic_shared_memory_type = mmap/" "$data/postgresql.conf"
mv "$data" "$root/data"

cat > "$root/init" <<INIT
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
chown -R postgres /data /var/run/postgresql
chmod 700 /data
run() { su postgres -c "\$1"; }
run "$bin/pg_ctl -D /data -w -l /tmp/log -o '-c listen_addresses= -c fsync=off' start"
run "$bin/pgbench -n -c $CLIENTS -t $TRANSACTIONS postgres"
/homenode/mark start
echo work begins
run "$bin/pgbench -n -c $CLIENTS -t $TRANSACTIONS postgres"
echo work ends
/homenode/mark stop
poweroff -f
INIT
chmod 755 "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 > "$target.partial"
mv "$target.partial" "$target"
