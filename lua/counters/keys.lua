-- The keys of a counters.
return {
  meta = 'hash', -- state of the partition
  values = 'hash', -- id -> value
  pending = 'hash', -- id -> increments that are neither set aside nor sealed
  rest = 'hash', -- id -> increments that were set aside when a seal began, and those added since
  sealed = 'hash', -- id -> sealed increments, not known to be in SQL
  clean = 'sorted set', -- id of a counter without pending or sealed increments -> until when it stays
  once = 'hash', -- id and idempotency key -> until when it is remembered
  board = 'hash', -- state of a partition whose counts are in SQL
  shown = 'hash', -- id -> the shown value
  noted = 'hash', -- id -> changes noted since SQL was read
  idle = 'sorted set', -- id of a counter without notes -> until when it stays
  ahead = 'hash', -- id -> version of SQL of its value, if that is later than the partition's
}
