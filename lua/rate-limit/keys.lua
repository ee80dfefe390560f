-- The keys of a rate limit.
return {
  state = 'hash', -- what counts for the subject
}
