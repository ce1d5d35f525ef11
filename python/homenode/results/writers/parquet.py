"""Apache Parquet: the columns of the rows with their types."""

from typing import IO

from homenode.results.writers.content import Content, Writer


def _write(content: Content, file: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(content.columns()), file, compression="zstd")


ENTRY = Writer("parquet", "the columns with their types", ("parquet", "pq"), _write)
