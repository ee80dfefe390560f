--[[
Removes all entries. Redis frees the memory in the background.

@returns cleared  existed:flag
@cost    O(1)
]]

return {
  'cleared',
  redis.call(
    'UNLINK',
    keys.entries,
    keys.ids,
    keys.words,
    keys.tops,
    keys.expiry,
    keys.fronts,
    keys.forks,
    keys.meta
  ) > 0 and 1 or 0,
}
