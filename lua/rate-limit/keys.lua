-- The keys of a rate limit.
return {
  state = 'hash', -- state of the subject
}
