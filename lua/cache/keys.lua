-- The keys of a cache.
return {
  value = 'string', -- the value and its head
  load = 'hash', -- the load lease
  generation = 'string', -- the newest generation of the tag
}
