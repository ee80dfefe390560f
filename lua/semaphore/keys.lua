-- The keys of a semaphore.
return {
  state = 'string', -- the semaphore's state
  queue = 'sorted set', -- ticket -> its number
  permits = 'sorted set', -- token -> when its lease ends
  ids = 'hash', -- id -> token, and token -> weight, id and holder
}
