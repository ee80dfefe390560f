--[[
Removes all entries. Redis frees the memory in the background.

@returns cleared  existed:flag
@cost    O(1)
]]
local meta = KEYS[1] -- hash: the state of the index, and the last call of every slot
local entries = KEYS[2] -- hash: number of an entry -> all that is stored of it
local ids = KEYS[3] -- hash: id of an entry -> its number
local words = KEYS[4] -- sorted set: folded text from a word start on, a zero byte, and the entry's place; no scores
local tops = KEYS[5] -- hash: number of a top -> its head, and of each of its leaves -> places of first entries
local expiry = KEYS[6] -- sorted set: number of an entry -> when it expires, in ms
local fronts = KEYS[7] -- hash: number of a top -> what its first entries are answered as
local forks = KEYS[8] -- sorted set: prefix of many words up to where they part, zero byte, number of its top

return {
  'cleared',
  redis.call('UNLINK', entries, ids, words, tops, expiry, fronts, forks, meta) > 0 and 1 or 0,
}
