// A plain HTTP server on PORT that sends short names on to where they lead.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
)

var links = map[string]string{
	"go":   "https://go.dev/",
	"http": "https://www.rfc-editor.org/rfc/rfc9110",
	"json": "https://www.rfc-editor.org/rfc/rfc8259",
}

func main() {
	http.HandleFunc("/", answer)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func answer(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		list(w)
		return
	}
	target, known := links[name]
	if !known {
		write("warn", "unknown link", map[string]any{"name": name})
		http.NotFound(w, r)
		return
	}
	write("info", "link followed", map[string]any{"name": name})
	http.Redirect(w, r, target, http.StatusFound)
}

func list(w http.ResponseWriter) {
	names := make([]string, 0, len(links))
	for name := range links {
		names = append(names, name)
	}
	sort.Strings(names)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"links": names, "stage": os.Getenv("TOOL_STAGE")})
}

// A line on stdout that becomes a structured log entry.
func write(level, message string, fields map[string]any) {
	json.NewEncoder(os.Stdout).Encode(map[string]any{"level": level, "message": message, "fields": fields})
}
