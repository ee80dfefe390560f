-- The keys of a collection.
return {
  meta = 'hash', -- all data of the collection except its items
  items = 'list, set, hash or sorted set', -- the items, as its kind has them
  build = 'list, set, hash or sorted set', -- a build; the part is followed by a hyphen and the builder's own id
}
