-- Returns the result of `open`, if it can read its key and finds this layout there; otherwise nil, and why not. In a
-- call for several keys, one of another type, or written by a newer version, must not affect the others.
local function try_open(open, layout)
  local ok, known = pcall(open)
  if not ok then
    -- A table where the server is 7.0 or newer.
    return nil, type(known) == 'table' and known.err or known
  end
  if known.layout ~= layout then
    return nil, 'LAYOUT ' .. known.layout
  end
  return known
end
