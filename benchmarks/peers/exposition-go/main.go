// CPU time (user and system, with garbage collection) of Go's parsers on two scrapes of a page, in turn.
// Prints one JSON line per parser.
//
// usage: exposition-go PREFIX    (reads PREFIX.1.txt and PREFIX.2.txt)
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

const (
	duration  = 900 * time.Millisecond
	minParses = 3
)

// A parser returns how many things it found on a page.
type parser func(page []byte) (int, error)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: exposition-go PREFIX")
	}
	var pages [2][]byte
	for i := range pages {
		page, err := os.ReadFile(fmt.Sprintf("%s.%d.txt", os.Args[1], i+1))
		if err != nil {
			log.Fatal(err)
		}
		pages[i] = page
	}
	measure("go expfmt (metric families)", pages, families)
	measure("go textparse + labels", pages, withLabels)
}

func measure(name string, pages [2][]byte, parse parser) {
	found := 0
	run := func(page []byte) {
		n, err := parse(page)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		found = n
	}
	run(pages[0])
	run(pages[1])
	runtime.GC()
	cpu, start, parses := cpuMilliseconds(), time.Now(), 0
	for parses < minParses || time.Since(start) < duration {
		run(pages[parses%2])
		parses++
	}
	line, err := json.Marshal(map[string]any{"name": name, "cpu_ms": (cpuMilliseconds() - cpu) / float64(parses), "n": found})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func cpuMilliseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func families(page []byte) (int, error) {
	text := expfmt.NewTextParser(model.UTF8Validation)
	found, err := text.TextToMetricFamilies(bytes.NewReader(page))
	return len(found), err
}

func withLabels(page []byte) (int, error) {
	var found labels.Labels
	text := textparse.NewPromParser(page, labels.NewSymbolTable(), false)
	return series(text, func() { text.Labels(&found) })
}

// Counts the series of a page and calls each for every one.
func series(text textparse.Parser, each func()) (int, error) {
	for count := 0; ; {
		entry, err := text.Next()
		if errors.Is(err, io.EOF) {
			return count, nil
		}
		if err != nil {
			return count, err
		}
		if entry == textparse.EntrySeries {
			text.Series()
			each()
			count++
		}
	}
}
