-- The keys of a once.
return {
  state = 'hash', -- all that is known of the key
}
