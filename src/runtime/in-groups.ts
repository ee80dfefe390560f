/** As many items a group as fit into these bounds, in order; one that is larger alone. */
export function inGroups<Item extends { readonly bytes: number }>(
  items: readonly Item[],
  bounds: { readonly items: number; readonly bytes: number },
): Item[][] {
  const groups: Item[][] = []
  let [group, bytes]: [Item[], number] = [[], 0]
  for (const item of items) {
    bytes += item.bytes
    if (group.length > 0 && (group.length === bounds.items || bytes > bounds.bytes)) {
      groups.push(group)
      ;[group, bytes] = [[], item.bytes]
    }
    group.push(item)
  }
  if (group.length > 0) groups.push(group)
  return groups
}
