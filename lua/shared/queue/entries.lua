-- A list of texts that is kept short, as one text: how many were ever added in four bytes, then each behind its length in two.

-- Adds one. Where `most` are there, the oldest of them goes but for the `spared` first ones. `packed`: false: none yet.
local function add_entry(packed, entry, most, spared)
  local count, kept = 0, ''
  if packed then
    count, kept = struct.unpack('>I4', packed), string.sub(packed, 5)
  end
  if count >= most then
    local from = 1
    for _ = 1, spared do
      from = from + 2 + struct.unpack('>H', kept, from)
    end
    local behind = from + 2 + struct.unpack('>H', kept, from)
    kept = string.sub(kept, 1, from - 1) .. string.sub(kept, behind)
  end
  return struct.pack('>I4', count + 1) .. kept .. struct.pack('>H', #entry) .. entry
end
