-- The keys of a feed.
return {
  meta = 'hash', -- the feed's state
  log = 'stream', -- the visible messages, by position
  early = 'stream', -- the oldest visible messages, while the log is compacted
  bodies = 'hash', -- id -> body, of those that are large
  claimed = 'sorted set', -- position -> token of its claim
  leases = 'sorted set', -- token -> when the claim ends, in ms
  returned = 'sorted set', -- positions that are free again
  work = 'hash', -- position -> claims so far, bytes, expiry, id
  expiry = 'sorted set', -- position -> expires_at_ms, where not in the lane
  delayed = 'sorted set', -- id -> visible_at_us
  parked = 'hash', -- id -> delayed message, later its position
  once = 'hash', -- idempotency key -> id
  subscribers = 'sorted set', -- subscriber -> position
  guards = 'sorted set', -- protected subscriber -> position
  dead_meta = 'hash', -- state of the dead-letter feed
  dead_log = 'stream', -- the dead letters
  dead_early = 'stream', -- the same of the dead letters
  dead_bodies = 'hash', -- the same of the dead letters
  dead_claimed = 'sorted set', -- the same of the dead letters
  dead_leases = 'sorted set', -- the same of the dead letters
  dead_returned = 'sorted set', -- the same of the dead letters
  dead_work = 'hash', -- the same of the dead letters
  dead_expiry = 'sorted set', -- position -> expires_at_ms of dead letters
  dead_delayed = 'sorted set', -- the same of the dead letters
  dead_parked = 'hash', -- id -> position of dead letters
  dead_once = 'hash', -- the same of the dead letters
  dead_subscribers = 'sorted set', -- the same of the dead letters
  dead_guards = 'sorted set', -- the same of the dead letters
}
