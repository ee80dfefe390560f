-- The keys of a collection.
return {
  meta = 'hash', -- all that is known of the collection but its items
  items = 'list, set, hash or sorted set', -- the items, as its kind has them
  build = 'list, set, hash or sorted set', -- what is built; behind the part stand a hyphen and the builder's own id
}
