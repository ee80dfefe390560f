--[[
Writes at most 1,000 items next to the collection, which does not change. They are the next items of a build, which
`switch-in` makes the items of the collection. Each build has its own key, which Redis expires a minute after the last
call. Repeating the call changes nothing. `refused` and `unchanged` are what `switch-in` would answer. `lost`: the
number of built items differs from the caller's.

@returns built      size:integer
@returns unchanged  copy:integer expires_at_ms:integer
@returns refused    version:integer
@returns lost
@cost    O(items given)
]]
local kind = ARGV[1] -- text: list, set, hash or sortedSet
local codec = ARGV[2] -- text: name of the codec that made the values
local version = tonumber(ARGV[3]) -- integer: version of the items; -1: none
local before = tonumber(ARGV[4]) -- integer: number of items built so far
local count = tonumber(ARGV[5]) -- integer: number of these items, without duplicates
local parts, parts_at = ARGV, 6 -- repeated (part:bytes): as those of `replace`

local BUILD_MS = '60000'

local known = try(open_collection(keys.meta, ''))
if #parts - parts_at >= MAX_PARTS then
  return redis.error_reply('INVALID items: must be at most 1000 a call')
end
local now_ms = math.floor(clock_us() / 1000)
if is_live(known, keys.items, now_ms) then
  try(refusal_of_kind(known, kind, codec))
  if is_outdated(known, version) then
    if known.version > version then
      return { 'refused', known.version }
    end
    return { 'unchanged', known.copy, known.expires_at_ms }
  end
end
local size = count_items(keys.build, kind)
if size == before then
  fill(keys.build, kind, parts, parts_at)
  redis.call('PEXPIRE', keys.build, BUILD_MS)
  size = count_items(keys.build, kind)
end
if size ~= before + count then
  return { 'lost' }
end
return { 'built', size }
