-- The keys of a autocomplete.
return {
  meta = 'hash', -- the state of the index, and the last call of every slot
  entries = 'hash', -- number of an entry -> its record
  ids = 'hash', -- id of an entry -> its number
  words = 'sorted set', -- folded text from a word start on, a zero byte, and the entry's place; no scores
  tops = 'hash', -- number of a top -> its head, and of each of its leaves -> places of first entries
  expiry = 'sorted set', -- number of an entry -> when it expires, in ms
  fronts = 'hash', -- number of a top -> the ready answer of its first entries
  forks = 'sorted set', -- prefix of many words up to where they part, zero byte, number of its top
}
