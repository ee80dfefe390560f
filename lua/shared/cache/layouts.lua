-- The layout that a script does not know, or nil.
local function unknown_layout(head, known)
  if head.layout ~= VALUE_LAYOUT then
    return head.layout
  elseif known.layout ~= LOAD_LAYOUT then
    return known.layout
  end
  return nil
end
