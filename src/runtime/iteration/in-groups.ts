/**
 * Splits items into groups within these bounds, in order; a larger item gets its own group. Items are read only when
 * their group is.
 */
export function* inGroups<Item extends { readonly bytes: number }>(
  items: Iterable<Item>,
  bounds: { readonly items: number; readonly bytes: number },
): Generator<Item[], void, undefined> {
  let [group, bytes]: [Item[], number] = [[], 0]
  for (const item of items) {
    bytes += item.bytes
    if (group.length > 0 && (group.length === bounds.items || bytes > bounds.bytes)) {
      yield group
      ;[group, bytes] = [[], item.bytes]
    }
    group.push(item)
  }
  if (group.length > 0) yield group
}
