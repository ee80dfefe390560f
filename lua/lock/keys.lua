-- The keys of a lock.
return {
  state = 'string', -- the lock's state
  queue = 'sorted set', -- ticket -> its number
  readers = 'sorted set', -- token -> when its lease ends
  reader_ids = 'hash', -- id -> token, and token -> id and holder
  fenced = 'hash', -- layout, codec, token and value, and the call that wrote it
}
