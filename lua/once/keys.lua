-- The keys of a once.
return {
  state = 'hash', -- all data of the key
}
