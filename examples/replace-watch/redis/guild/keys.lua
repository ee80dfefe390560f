-- The keys of a guild.
return {
  members = 'sorted set', -- the members, all with the score 0, so in the order of their bytes
}
