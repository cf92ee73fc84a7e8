/** Bars of a histogram, one of them an error: it shows on light and on dark tabs. */
export const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2855d9"/><rect x="6" y="17" width="4" height="9" rx="1" fill="#fff"/><rect x="11.5" y="12" width="4" height="14" rx="1" fill="#fff"/><rect x="17" y="6" width="4" height="20" rx="1" fill="#ff9d96"/><rect x="22.500" y="14" width="4" height="12" rx="1" fill="#fff"/></svg>
`;
