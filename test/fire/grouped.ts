/** As Map.groupBy, which Node 20 lacks. */
export function grouped<T>(all: readonly T[], nameOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const each of all) {
    const group = groups.get(nameOf(each))
    if (group === undefined) groups.set(nameOf(each), [each])
    else group.push(each)
  }
  return groups
}
