// The index of a suite of Debian (`Packages`), and which packages a program needs to run.

export interface Package {
  readonly name: string
  readonly version: string
  /** Its place below the root of the mirror. */
  readonly file: string
  readonly sha256: string
  /** Each needs one of several. */
  readonly needs: readonly (readonly string[])[]
}

export type Index = ReadonlyMap<string, Package>

export function parseIndex(text: string): Index {
  const packages = text.split(/\n{2,}/).flatMap((stanza) => packageOf(stanza) ?? [])
  return new Map(packages.map((each) => [each.name, each]))
}

/** Libraries, and the bases of the compiler that own their folders; not what configures a machine. */
const LIBRARY = /^(?:lib|gcc-\d+-base$)/

/**
 * The libraries that these packages need, and what those need in turn: the C library with its loader, too. Throws for a
 * library that the index does not have.
 */
export function librariesFor(roots: readonly Package[], index: Index): Package[] {
  const found = new Map<string, Package>()
  const open = [...roots]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    for (const choices of each.needs) {
      const libraries = choices.filter((name) => LIBRARY.test(name))
      const library = libraries.map((name) => index.get(name)).find((one) => one !== undefined)
      if (libraries.length > 0 && library === undefined)
        throw new Error(`${each.name} needs ${libraries.join(' or ')}, which the suite does not have`)
      if (library === undefined || found.has(library.name)) continue
      found.set(library.name, library)
      open.push(library)
    }
  }
  return [...found.values()]
}

function packageOf(stanza: string): Package | null {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? ''
  const name = field('Package')
  if (name === '') return null
  const needs = [field('Pre-Depends'), field('Depends')].flatMap(choicesIn)
  return { name, version: field('Version'), file: field('Filename'), sha256: field('SHA256'), needs }
}

/** `libc6 (>= 2.34), a:any | b` without versions and architectures. */
function choicesIn(text: string): string[][] {
  const groups = text.split(',').filter((group) => group.trim() !== '')
  return groups.map((group) => group.split('|').map((choice) => /[^\s:(]+/.exec(choice)?.[0] ?? ''))
}
