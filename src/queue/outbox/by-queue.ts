/** What goes to each queue, or is of it, in its order. */
export function byQueue<Item>(items: readonly Item[], queueOf: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>()
  for (const item of items) {
    const those = found.get(queueOf(item))
    if (those === undefined) found.set(queueOf(item), [item])
    else those.push(item)
  }
  return found
}
