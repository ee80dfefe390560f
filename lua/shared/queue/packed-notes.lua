-- What a call has noted for the statistics and counted.
local function packed_notes(queue)
  local packed = { queue.noted }
  local counted = queue.counted or {}
  for _, key in ipairs(counted) do
    packed[#packed + 1] = struct.pack(NOTE, #key, key, 0, counted[key], 0, 0)
  end
  return table.concat(packed)
end
