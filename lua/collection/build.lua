--[[
Writes at most 1,000 items beside the collection, which does not change: the next ones of a build, which
`switch-in` makes its items. Each build has a key of its own, of which Redis lets go a minute after the last call.
Repeating the call changes nothing. `refused` and `unchanged` say what `switch-in` would; `lost`: others have been
built than the caller thinks.

@returns built      size:integer
@returns unchanged  copy:integer expires_at_ms:integer
@returns refused    version:integer
@returns lost
@cost    O(items given)
]]
local kind = ARGV[1] -- text: list, set, hash or sortedSet
local codec = ARGV[2] -- text: name of the codec that made the values
local version = tonumber(ARGV[3]) -- integer: of the items; -1: they have none
local before = tonumber(ARGV[4]) -- integer: how many have been built
local count = tonumber(ARGV[5]) -- integer: how many these are, none of them twice
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
