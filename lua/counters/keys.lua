-- The keys of a counters.
return {
  meta = 'hash', -- what is known of the partition
  values = 'hash', -- id -> value
  pending = 'hash', -- id -> what is counted, and neither set aside nor sealed
  rest = 'hash', -- id -> what was set aside when a seal began, and what has come to it since
  sealed = 'hash', -- id -> what is sealed, and not known to be in SQL
  clean = 'sorted set', -- id of a counter without pending or sealed increments -> until when it stays
  once = 'hash', -- id and idempotency key -> until when it is remembered
  board = 'hash', -- what is known of a partition whose counts are in SQL
  shown = 'hash', -- id -> what is shown
  noted = 'hash', -- id -> what was noted since SQL was read
  idle = 'sorted set', -- id of a counter without notes -> until when it stays
  ahead = 'hash', -- id -> version of SQL that its value is of, if that is later than the partition's
}
