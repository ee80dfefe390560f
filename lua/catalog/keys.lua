-- The keys of a catalog.
return {
  meta = 'hash', -- layout of the catalog
  names = 'sorted set', -- the names, in the order of their bytes
  documents = 'hash', -- name -> '<version> <document>'
}
